// Entry point: stores the key of a sign-in link, mounts the page, loads the board, starts notifications and the service worker.
import { mount } from "svelte";
import App from "./App.svelte";
import "./app.css";
import { storeKeyFromAddress } from "./lib/api";
import { followBoardAddress } from "./lib/board-history.svelte";
import { board } from "./lib/board.svelte";
import { notifications } from "./lib/notifications.svelte";
import { serviceWorker } from "./lib/service-worker.svelte";
import { followScrolling } from "./lib/scroll-positions";

storeKeyFromAddress();
followBoardAddress();
followScrolling();
mount(App, { target: document.getElementById("app")! });
void board.start();
notifications.start();
serviceWorker.start();
