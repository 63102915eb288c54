package dev.stackagent.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A budget that the test JVM in which this test runs has to keep, as {@code shadow check} knows it:
 * {@code @Budget("class(\"com.acme.*\").queue_ns.p99 < 50ms")}. It is checked when the JVM has ended, because only then
 * all figures are known.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@Repeatable(Budgets.class)
public @interface Budget {
    /** What must hold. */
    String value();

    /** Why, in a sentence for whoever breaks it. */
    String why() default "";
}
