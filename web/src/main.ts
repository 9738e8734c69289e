// Entry point: stores the key of a sign-in link, mounts the page, loads the board, starts notifications and the service worker.
import { mount } from "svelte";
import App from "./App.svelte";
import "./app.css";
import { storeKeyFromAddress } from "./lib/api";
import { board } from "./lib/board.svelte";
import { notifications } from "./lib/notifications.svelte";
import { serviceWorker } from "./lib/service-worker.svelte";

storeKeyFromAddress();
mount(App, { target: document.getElementById("app")! });
void board.start();
notifications.start();
serviceWorker.start();
