package dev.idp.junit;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a browser holds of the app after a sign-in. The cookies are as Playwright has them: {@code name}, {@code value}, {@code domain},
 * {@code path}, {@code expires}, {@code httpOnly}, {@code secure}, {@code sameSite}.
 */
public record SignedIn(List<Map<String, Object>> cookies) {
    /** The JSON that Playwright takes as {@code storageState}. */
    public String storageState() {
        return Json.write(Map.of("cookies", cookies, "origins", List.of()));
    }

    /** The value of the header {@code Cookie} that a browser sends to an address; empty without cookies. */
    public String header(String url) {
        URI address = URI.create(url);
        return cookies.stream()
                .filter(cookie -> isSent(cookie, address))
                .map(cookie -> cookie.get("name") + "=" + cookie.get("value"))
                .collect(Collectors.joining("; "));
    }

    private static boolean isSent(Map<String, Object> cookie, URI address) {
        String host = address.getHost();
        String path = address.getPath().isEmpty() ? "/" : address.getPath();
        String domain = (String) cookie.get("domain");
        String below = (String) cookie.get("path");
        boolean isHere = domain.startsWith(".") ? ("." + host).endsWith(domain) : host.equals(domain);
        boolean isBelow = path.equals(below) || path.startsWith(below.endsWith("/") ? below : below + "/");
        boolean isSafe = address.getScheme().equals("https") || List.of("localhost", "127.0.0.1", "[::1]").contains(host);
        return isHere && isBelow && (isSafe || !Boolean.TRUE.equals(cookie.get("secure")));
    }

    /** Runs the command. @param signedIn null: the app's callback has to set or change a cookie */
    static SignedIn at(Idp idp, String start, String username, String signedIn) {
        List<String> words = new ArrayList<>(Server.findCommand());
        words.addAll(List.of("sign-in", "--json", "--url=" + idp.issuer(), "--start=" + start, "--user=" + username));
        if (signedIn != null) words.add("--signed-in=" + signedIn);
        try {
            ProcessBuilder builder = new ProcessBuilder(words);
            builder.environment().keySet().removeAll(List.of("IDP_STORE", "IDP_DATA"));
            builder.environment().put("IDP_ADMIN_TOKEN", idp.adminToken());
            Process process = builder.start();
            process.getOutputStream().close();
            CompletableFuture<String> errors = CompletableFuture.supplyAsync(() -> Server.readAll(process.getErrorStream()));
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() == 0 && Json.read(output) instanceof Map<?, ?> result) return new SignedIn(cookiesOf(result));
            throw new IdpException(refusalIn(errors.join()));
        } catch (IOException error) {
            throw new IdpException(words.get(0) + " cannot be run: " + error.getMessage(), error);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IdpException("the sign-in was interrupted", interrupted);
        }
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> cookiesOf(Map<?, ?> result) {
        return ((List<?>) result.get("cookies")).stream().map(cookie -> (Map<String, Object>) cookie).toList();
    }

    /** The words of a command that failed with {@code --json}. */
    private static String refusalIn(String said) {
        try {
            if (Json.read(said) instanceof Map<?, ?> refused && refused.get("error") instanceof Map<?, ?> error) {
                return Stream.of(error.get("message"), error.get("hint"))
                        .filter(text -> text != null)
                        .map(Object::toString)
                        .collect(Collectors.joining("\n"));
            }
        } catch (RuntimeException notJson) {
            // Then it is a sentence.
        }
        return said.strip();
    }
}
