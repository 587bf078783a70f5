package dev.idp.junit;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.io.PrintWriter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** Runs one test method, as a build tool does: class and method. */
final class RunOne {
    private RunOne() {}

    public static void main(String[] args) {
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        String method = args[0] + "#" + args[1] + "(" + Idp.class.getName() + ")";
        LauncherFactory.create()
                .execute(LauncherDiscoveryRequestBuilder.request().selectors(selectMethod(method)).build(), listener);
        listener.getSummary().printFailuresTo(new PrintWriter(System.out));
        System.exit((int) listener.getSummary().getTotalFailureCount());
    }
}
