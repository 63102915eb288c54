// What the bundled libraries do not declare themselves.

declare module "*.css";

declare module "d3-flame-graph" {
  import type { Selection } from "d3-selection";

  /** A frame of the graph: its width is its value. */
  export interface Frame {
    name: string;
    value: number;
    children?: Frame[];
  }

  /** A frame as it is drawn. */
  export interface Drawn {
    data: Frame;
    value: number;
    x0: number;
    x1: number;
    depth: number;
  }

  export interface FlameGraph {
    (selection: Selection<HTMLElement, unknown, null, undefined>): void;
    width(px: number): this;
    height(px: number): this;
    cellHeight(px: number): this;
    minFrameSize(px: number): this;
    transitionDuration(ms: number): this;
    inverted(on: boolean): this;
    sort(on: boolean | ((a: Drawn, b: Drawn) => number)): this;
    tooltip(on: boolean): this;
    title(text: string): this;
    selfValue(on: boolean): this;
    computeDelta(on: boolean): this;
    setColorMapper(colour: (frame: Drawn, usual: string) => string): this;
    setLabelHandler(label: (frame: Drawn) => string): this;
    getName(name: (frame: Drawn) => string): this;
    onClick(clicked: (frame: Drawn) => void): this;
    onHover(hovered: (frame: Drawn | null) => void): this;
    search(term: string): void;
    clear(): void;
    resetZoom(): void;
    zoomTo(frame: Drawn): void;
    update(root?: Frame): void;
    destroy(): this;
  }

  export default function flamegraph(): FlameGraph;
}
