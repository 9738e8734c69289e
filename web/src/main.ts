// Entry point: stores the key of a sign-in link, mounts the page, loads the board, starts notifications.
import { mount } from "svelte";
import App from "./App.svelte";
import "./app.css";
import { storeKeyFromAddress } from "./lib/api";
import { board } from "./lib/board.svelte";
import { notifications } from "./lib/notifications.svelte";

storeKeyFromAddress();
mount(App, { target: document.getElementById("app")! });
void board.start();
notifications.start();
