// Names of classes and places: what says most comes first where there is little room.

const packages = /\b(?:[a-z_]\w*\.)+(?=[A-Z])/g;

/** withoutPackages leaves out all packages: "com.acme.Orders.run(Orders.java:6)" is "Orders.run(Orders.java:6)". */
export function withoutPackages(name: string): string { return name.replace(packages, ""); }

/** packageOf is the first package in a name. */
export function packageOf(name: string): string { return name.match(packages)?.[0].slice(0, -1) ?? ""; }
