// The beginning: the key out of the address, then the page, then the stream.
import { mount } from "svelte";
import App from "./App.svelte";
import "./app.css";
import { takeKey } from "./lib/api";
import { board } from "./lib/board.svelte";
import { calling } from "./lib/calling.svelte";

takeKey();
mount(App, { target: document.getElementById("app")! });
void board.start();
calling.start();
