/** A module that reads nothing but java.base. */
module tasks {
    exports tasks.api;
}
