package dev.idp.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The users and clients of a test, or of the tests of a class. Without it, they are those of the {@code idp.fixtures.yaml} in the working
 * folder, or else the demo.
 */
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface IdpFixtures {
    /** The path of a fixture file; empty if {@link #text} is given. */
    String value() default "";

    /** The text of a fixture file, YAML or JSON. */
    String text() default "";
}
