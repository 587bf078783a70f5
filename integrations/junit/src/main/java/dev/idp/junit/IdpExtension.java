package dev.idp.junit;

import java.util.Map;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Gives each test with a parameter {@link Idp} an issuer of its own. One server, which the first such test starts, serves all tests of
 * the process. A failed test prints the requests to its issuer.
 */
public final class IdpExtension implements ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(IdpExtension.class);

    /** Creates the extension, as {@code @ExtendWith(IdpExtension.class)} does. */
    public IdpExtension() {}

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Idp.class && context.getTestMethod().isPresent();
    }

    @Override
    public Idp resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return context.getStore(NAMESPACE).getOrComputeIfAbsent("issuer", key -> new OfTest(context), OfTest.class).idp;
    }

    private static Map<String, Object> fixturesOf(ExtensionContext context) {
        return AnnotationSupport.findAnnotation(context.getRequiredTestMethod(), IdpFixtures.class)
                .or(() -> AnnotationSupport.findAnnotation(context.getRequiredTestClass(), IdpFixtures.class))
                .map(given -> given.value().isEmpty() ? Server.source("@IdpFixtures", given.text()) : Server.file(given.value()))
                .orElse(Map.of());
    }

    /** The issuer of a test. JUnit closes it after the test and all of its callbacks. */
    private static final class OfTest implements Store.CloseableResource {
        private final ExtensionContext context;
        private final Server server;
        private final Idp idp;

        OfTest(ExtensionContext context) {
            this.context = context;
            this.server = context.getRoot()
                    .getStore(NAMESPACE)
                    .getOrComputeIfAbsent("server", key -> Server.start(), Server.class);
            this.idp = server.newIssuer(fixturesOf(context));
        }

        @Override
        public void close() {
            if (context.getExecutionException().isPresent()) {
                String ledger = idp.ledger();
                // Build tools show standard error, but not report entries; reports show both.
                System.err.println("Requests to idp of " + nameOf(context) + ":\n" + ledger);
                context.publishReportEntry("Requests to idp", ledger);
            }
            server.removeIssuer(idp);
        }

        private static String nameOf(ExtensionContext context) {
            return context.getRequiredTestClass().getSimpleName() + " " + context.getDisplayName();
        }
    }
}
