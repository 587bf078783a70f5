package dev.idp.junit;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The issuer of one test. Every method throws {@link IdpException}, with the words of the refusal and its hint, if the server refuses the
 * call. Maps have the fields of fixtures, faults and expectations, by their names in the control API.
 */
public final class Idp {
    private static final HttpClient HTTP =
            HttpClient.newBuilder().proxy(HttpClient.Builder.NO_PROXY).version(HttpClient.Version.HTTP_1_1).build();

    private final String issuer;
    private final String adminToken;

    Idp(String issuer, String adminToken) {
        this.issuer = issuer;
        this.adminToken = adminToken;
    }

    /** A client of the fixtures. {@code clientSecret} is null for a public client; {@code metadata} has every field. */
    public record Client(String clientId, String clientSecret, List<String> redirectUris, Map<String, Object> metadata) {
        /** The first redirect URI. */
        public String redirectUri() {
            return redirectUris.get(0);
        }
    }

    /** A token response. What was not issued is null. */
    public record Tokens(String accessToken, String tokenType, long expiresIn, String refreshToken, String idToken, String scope) {}

    /** The issuer, for discovery: {@code http://localhost:41234/i/t1}. */
    public String issuer() {
        return issuer;
    }

    /** Opens the control API. */
    public String adminToken() {
        return adminToken;
    }

    /** The client of the app: the first one with a redirect URI, else the first. None that registered itself counts. */
    public Client client() {
        List<Client> clients = clients().stream()
                .filter(client -> !client.metadata().containsKey("self_registered") && !client.metadata().containsKey("metadata_document"))
                .toList();
        return clients.stream()
                .filter(client -> !client.redirectUris().isEmpty())
                .findFirst()
                .or(() -> clients.stream().findFirst())
                .orElseThrow(() -> new IdpException("this issuer has no client: add one to its fixtures"));
    }

    /** All clients. */
    public List<Client> clients() {
        return objects(call("GET", "clients?secrets=true", null)).stream()
                .map(client -> new Client(
                        (String) client.get("client_id"),
                        (String) client.get("client_secret"),
                        client.get("redirect_uris") instanceof List<?> uris ? uris.stream().map(String.class::cast).toList() : List.of(),
                        client))
                .toList();
    }

    /** The users of the issuer. */
    public Users users() {
        return new Users();
    }

    /** The clock of the issuer. The clock of your app is another one. */
    public Clock clock() {
        return new Clock();
    }

    /** Responses that are wrong on purpose. */
    public Faults faults() {
        return new Faults();
    }

    /** As {@link #signIn(String, String, Map)}, with the scopes of the client. */
    public URI signIn(String clientId, String username) {
        return signIn(clientId, username, Map.of());
    }

    /**
     * Signs a user in at a client without a browser.
     *
     * @param more {@code scope}, {@code state}, {@code nonce}, {@code redirect_uri}, {@code code_challenge}, as the app asked for them
     * @return where the browser returns to the app: the redirect URI with code, state and iss
     */
    public URI signIn(String clientId, String username, Map<String, ?> more) {
        Map<String, Object> body = merged(Map.of("client", clientId, "user", username), more);
        return URI.create((String) object(call("POST", "issue/code", body)).get("url"));
    }

    /** As {@link #signInAt(String, String, String)}; the app's callback has to set or change a cookie. */
    public SignedIn signInAt(String start, String username) {
        return SignedIn.at(this, start, username, null);
    }

    /**
     * Signs a user in at your app, as a person would in a browser, with the command {@code sign-in}.
     *
     * @param start the address behind the app's sign-in button
     * @param signedIn an address that only users may see
     */
    public SignedIn signInAt(String start, String username, String signedIn) {
        return SignedIn.at(this, start, username, signedIn);
    }

    /** As {@link #issueTokens(String, String, Map)}, with the scopes of the client. */
    public Tokens issueTokens(String clientId, String username) {
        return issueTokens(clientId, username, Map.of());
    }

    /**
     * The token response of a sign-in.
     *
     * @param more {@code scope}, {@code nonce}
     */
    public Tokens issueTokens(String clientId, String username, Map<String, ?> more) {
        Map<String, Object> body = merged(Map.of("client", clientId, "user", username), more);
        Map<String, Object> tokens = object(call("POST", "issue/tokens", body));
        return new Tokens(
                (String) tokens.get("access_token"),
                (String) tokens.get("token_type"),
                ((Number) tokens.get("expires_in")).longValue(),
                (String) tokens.get("refresh_token"),
                (String) tokens.get("id_token"),
                (String) tokens.get("scope"));
    }

    /** Revokes the grants of a user at a client, as the user can on the account page. Null stands for all of them. */
    public void revoke(String clientId, String username) {
        Map<String, Object> selected = new LinkedHashMap<>();
        if (clientId != null) selected.put("client", clientId);
        if (username != null) selected.put("user", username);
        call("POST", "revoke", selected);
    }

    /** As {@link #expect(String, Map)}, for any request of that endpoint. */
    public void expect(String endpoint) {
        expect(endpoint, Map.of());
    }

    /**
     * Checks that the app made the right requests: {@code idp.expect("token", Map.of("grant_type", "refresh_token", "times", 1))}.
     *
     * @throws AssertionError with the nearest misses, if it did not
     */
    public void expect(String endpoint, Map<String, ?> expectation) {
        Map<String, Object> result = object(call("POST", "expect", merged(Map.of("endpoint", endpoint), expectation)));
        if (Boolean.TRUE.equals(result.get("met"))) return;
        List<String> lines = new ArrayList<>();
        lines.add("not met: " + result.get("expected") + ". The issuer got " + result.get("count") + ".");
        for (Map<String, Object> near : objects(result.get("nearest"))) {
            lines.add(line(object(near.get("request"))));
            ((List<?>) near.get("differs")).forEach(differs -> lines.add("      " + differs));
        }
        throw new AssertionError(String.join("\n", lines));
    }

    /** What the app asked, the oldest first, without its secrets. */
    public List<Map<String, Object>> requests() {
        return objects(call("GET", "requests", null));
    }

    /** The requests as text. */
    public String ledger() {
        List<Map<String, Object>> requests;
        try {
            requests = requests();
        } catch (IdpException error) {
            return "  They cannot be read: " + error.getMessage();
        }
        if (requests.isEmpty()) return "  The issuer " + issuer + " got no requests.";
        return requests.stream().flatMap(Idp::lines).collect(Collectors.joining("\n"));
    }

    private static Stream<String> lines(Map<String, Object> request) {
        Stream<String> notes = Stream.of("error", "rule", "fix", "fault")
                .filter(name -> request.get(name) != null)
                .map(name -> "      " + (name.equals("error") ? "" : name + ": ") + request.get(name));
        return Stream.concat(Stream.of(line(request)), notes);
    }

    private static String line(Map<String, Object> request) {
        return Stream.of("id", "method", "endpoint", "status", "grant_type", "client", "user")
                .map(request::get)
                .filter(Objects::nonNull)
                .map(String::valueOf)
                .collect(Collectors.joining("  ", "  ", ""));
    }

    /**
     * Calls the control API.
     *
     * @param path below {@code /_idp/api/}
     * @param body null for none
     * @return the JSON of the response, as maps, lists, strings, numbers and booleans; null if it has none
     */
    public Object call(String method, String path, Object body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(issuer + "/_idp/api/" + path))
                .header("Authorization", "Bearer " + adminToken)
                .header("Content-Type", "application/json")
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(Json.write(body)))
                .build();
        try {
            HttpResponse<String> response = HTTP.send(request, BodyHandlers.ofString());
            if (response.statusCode() >= 400) throw refusal(response);
            return response.body().isEmpty() ? null : Json.read(response.body());
        } catch (IOException error) {
            throw new IdpException("nothing answers at " + issuer, error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IdpException("interrupted while " + issuer + " was asked", error);
        }
    }

    private static IdpException refusal(HttpResponse<String> response) {
        if (!(Json.read(response.body()) instanceof Map<?, ?> body)) return new IdpException("status " + response.statusCode());
        Stream<Object> problems = objects(body.get("problems")).stream()
                .map(problem -> problem.get("path") + ": " + problem.get("message"));
        return new IdpException(Stream.of(Stream.of(body.get("error_description")), problems, Stream.ofNullable(body.get("hint")))
                .flatMap(part -> part)
                .map(String::valueOf)
                .collect(Collectors.joining("\n")));
    }

    static Map<String, Object> merged(Map<String, ?> fields, Map<String, ?> more) {
        Map<String, Object> all = new LinkedHashMap<>(fields);
        all.putAll(more);
        return all;
    }

    @SuppressWarnings("unchecked") // Objects of JSON have strings as keys.
    static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }

    private static List<Map<String, Object>> objects(Object value) {
        return value instanceof List<?> list ? list.stream().map(Idp::object).toList() : List.of();
    }

    private static String pathOf(String username) {
        return "users/" + URLEncoder.encode(username, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** The users of the issuer. */
    public final class Users {
        private Users() {}

        /** All users. */
        public List<Map<String, Object>> list() {
            return objects(call("GET", "users", null));
        }

        /** One user. */
        public Map<String, Object> show(String username) {
            return object(call("GET", pathOf(username), null));
        }

        /** Adds a user. The fields are those of a fixture file. */
        public Map<String, Object> add(String username, Map<String, ?> fields) {
            return object(call("POST", "users", merged(Map.of("username", username), fields)));
        }

        /** Changes fields of a user. */
        public void edit(String username, Map<String, ?> fields) {
            call("PATCH", pathOf(username), fields);
        }

        /** Removes a user with their grants and sessions. */
        public void remove(String username) {
            call("DELETE", pathOf(username), null);
        }

        /** Keeps the user from signing in until {@link #restore}; until then, their tokens get 403. */
        public void suspend(String username) {
            call("POST", pathOf(username) + "/suspend", null);
        }

        /** Ends the user's sessions and revokes their grants permanently. */
        public void ban(String username) {
            call("POST", pathOf(username) + "/ban", null);
        }

        /** Makes a suspended or banned user active again. */
        public void restore(String username) {
            call("POST", pathOf(username) + "/restore", null);
        }
    }

    /** The clock of the issuer. Each method returns what it shows. */
    public final class Clock {
        private Clock() {}

        /** What the clock shows. */
        public Instant now() {
            return ask("GET", "clock", null);
        }

        /** Moves the clock forward, by whole seconds. */
        public Instant advance(Duration by) {
            return ask("POST", "clock/advance", Map.of("by", by.toSeconds()));
        }

        /** Sets the clock. */
        public Instant set(Instant to) {
            return ask("POST", "clock/set", Map.of("to", to.toString()));
        }

        /** Stops the clock, which can still be advanced and set. */
        public Instant freeze() {
            return ask("POST", "clock/freeze", null);
        }

        /** Lets the clock show the real time again. */
        public Instant reset() {
            return ask("POST", "clock/reset", null);
        }

        private Instant ask(String method, String path, Object body) {
            return Instant.parse((String) object(call(method, path, body)).get("now"));
        }
    }

    /** Responses that are wrong on purpose. */
    public final class Faults {
        private Faults() {}

        /**
         * Adds a fault.
         *
         * @param fault what goes wrong, and for which requests: {@code Map.of("status", 503, "times", 2)}
         * @return its ID
         */
        public String add(String endpoint, Map<String, ?> fault) {
            return (String) object(call("POST", "faults", merged(Map.of("endpoint", endpoint), fault))).get("id");
        }

        /** The active faults. */
        public List<Map<String, Object>> list() {
            return objects(call("GET", "faults", null));
        }

        /** Removes a fault. */
        public void remove(String id) {
            call("DELETE", "faults/" + id, null);
        }

        /** Removes all faults. */
        public void clear() {
            call("DELETE", "faults", null);
        }
    }
}
