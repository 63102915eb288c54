package early;

/** A task by its superclass alone. */
public class Child extends Base {}
