// The page's entry: reads the data, shows the view that the address names.
import "./page.css";

const root = document.documentElement;
root.dataset.state = "ready";
