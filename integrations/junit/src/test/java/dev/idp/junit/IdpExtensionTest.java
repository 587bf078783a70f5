package dev.idp.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.ConnectException;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(IdpExtension.class)
class IdpExtensionTest {
    private static final String SHOP = """
            users: [{ username: erin }]
            clients: [{ client_id: shop, redirect_uris: ['http://localhost/cb'] }]
            """;

    private String issuer;

    @BeforeEach
    void before(Idp idp) {
        issuer = idp.issuer();
    }

    @Test
    void theExampleOfTheReadmeIsTheTestThatRunsHere() throws Exception {
        String example = Files.readString(Path.of("src/test/java/SignInTest.java"));
        assertTrue(Files.readString(Path.of("README.md")).contains("```java\n" + example + "```"));
    }

    @Test
    void aUserSignsInAtAnApp(Idp idp) throws Exception {
        HttpServer app = HttpServer.create(new InetSocketAddress("localhost", 0), 0);
        String url = "http://localhost:" + app.getAddress().getPort();
        String authorize = idp.issuer() + "/api/v2/oauth/authorize?response_type=code&client_id=app&scope=openid&redirect_uri="
                + URLEncoder.encode(url + "/callback", StandardCharsets.UTF_8)
                + "&code_challenge_method=S256&code_challenge=" + "a".repeat(43);
        app.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            boolean isUser = String.valueOf(exchange.getRequestHeaders().getFirst("Cookie")).contains("sid=1");
            exchange.getResponseHeaders().set("Location", path.equals("/callback") ? "/me" : authorize);
            if (path.equals("/callback")) exchange.getResponseHeaders().set("Set-Cookie", "sid=1; HttpOnly");
            exchange.sendResponseHeaders(path.equals("/me") && isUser ? 200 : 302, -1);
            exchange.close();
        });
        app.start();
        try {
            idp.call("POST", "clients", Map.of("client_id", "app", "redirect_uris", List.of(url + "/callback")));
            SignedIn signedIn = idp.signInAt(url + "/login", "alice", url + "/me");
            assertEquals("sid=1", signedIn.header(url + "/me"));
            assertEquals("", signedIn.header("http://example.test/"));
            assertTrue(signedIn.storageState().contains("\"sid\""));
            assertThrows(IdpException.class, () -> idp.signInAt(url + "/login", "nobody"));
        } finally {
            app.stop(0);
        }
    }

    @RepeatedTest(4)
    void eachTestHasAnIssuerOfItsOwn(Idp idp) {
        assertEquals(issuer, idp.issuer());
        idp.users().add("erin", Map.of("email", "erin@example.com"));
        idp.clock().advance(Duration.ofMinutes(31));
        assertEquals(List.of(), idp.requests());
    }

    @Test
    @IdpFixtures(text = SHOP)
    void members(Idp idp) {
        assertEquals(List.of("shop", "http://localhost/cb"), List.of(idp.client().clientId(), idp.client().redirectUri()));
        assertNull(idp.client().clientSecret());
        URI callback = idp.signIn("shop", "erin", Map.of("code_challenge", "a".repeat(43)));
        assertTrue(callback.toString().startsWith("http://localhost/cb?code="));
        idp.users().suspend("erin");
        IdpException refused = assertThrows(IdpException.class, () -> idp.issueTokens("shop", "erin"));
        assertTrue(refused.getMessage().contains("suspended"), refused.getMessage());
        idp.users().restore("erin");
        idp.users().edit("erin", Map.of("displayName", "Erin Öz"));
        assertEquals("Erin Öz", idp.users().show("erin").get("displayName"));
        idp.users().ban("erin");
        idp.users().remove("erin");
        assertEquals(List.of(), idp.users().list());
        String fault = idp.faults().add("token", Map.of("flaw", "nonce-wrong"));
        assertEquals(fault, idp.faults().list().get(0).get("id"));
        idp.faults().remove(fault);
        idp.faults().clear();
        Instant then = Instant.parse("2030-01-01T00:00:00Z");
        assertEquals(then, idp.clock().set(then).truncatedTo(ChronoUnit.MINUTES));
        assertEquals(idp.clock().freeze(), idp.clock().now());
        assertTrue(idp.clock().reset().isBefore(then));
        AssertionError unmet = assertThrows(AssertionError.class, () -> idp.expect("token"));
        assertTrue(unmet.getMessage().contains("at least 1 token request"), unmet.getMessage());
    }

    @Test
    @IdpFixtures(text = """
            settings: { mcp: true }
            clients: [{ client_id: worker, client_secret: s, grant_types: [client_credentials] }]
            """)
    void theClientOfTheAppDidNotRegisterItself(Idp idp) throws Exception {
        HttpRequest registration = HttpRequest.newBuilder(URI.create(idp.issuer() + "/api/v2/oauth/register"))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"redirect_uris\":[\"https://evil.test/cb\"]}"))
                .build();
        HttpClient.newHttpClient().send(registration, BodyHandlers.discarding());
        assertEquals(2, idp.clients().size());
        assertEquals("worker", idp.client().clientId());
    }

    @Test
    @IdpFixtures("src/test/resources/shop.yaml")
    void fixturesOfAFile(Idp idp) {
        assertEquals("erin", idp.users().list().get(0).get("username"));
    }

    /** What a build tool shows of a test in another process. */
    private record Ended(int code, String output) {}

    private static Ended run(Path folder, String test, Map<String, String> environment) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        ProcessBuilder builder = new ProcessBuilder(
                java, "-cp", System.getProperty("java.class.path"), RunOne.class.getName(), Failing.class.getName(), test);
        builder.directory(folder.toFile()).redirectErrorStream(true).environment().putAll(environment);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes());
        return new Ended(process.waitFor(), output);
    }

    @ParameterizedTest
    @CsvSource({"asks, r1  GET  userinfo  401 ; missing_token: ", "asksNothing, got no requests"})
    void aFailedTestShowsItsRequests(String test, String said, @TempDir Path folder) throws Exception {
        Ended ended = run(folder, test, Map.of());
        assertEquals(1, ended.code());
        assertTrue(ended.output().contains("Requests to idp of Failing " + test + "(Idp):"), ended.output());
        for (String part : said.split(" ; ")) assertTrue(ended.output().contains(part), ended.output());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
        "no-such-command | DEV_IDP is \"no-such-command\", but there is no command",
        "sh -c 'echo >&2 $*; exit 3' sh | did not start a server. It wrote: start --memory --port 0",
        "`` | npm install --save-dev dev-idp",
    })
    void noServerSaysWhatToDo(String command, String said, @TempDir Path folder) throws Exception {
        Map<String, String> environment = command.isEmpty() ? Map.of("DEV_IDP", "", "PATH", "/nowhere") : Map.of("DEV_IDP", command);
        Ended ended = run(folder, "asks", environment);
        assertEquals(1, ended.code());
        assertTrue(ended.output().contains(said), ended.output());
    }

    @Test
    void noServerOutlivesAKilledTestProcess(@TempDir Path folder) throws Exception {
        assertNotEquals(0, run(folder, "isKilled", Map.of()).code());
        URI health = URI.create(Files.readString(folder.resolve("issuer")) + "/_idp/health");
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        assertThrows(ConnectException.class, () -> {
            while (System.nanoTime() < until) {
                HttpClient.newHttpClient().send(HttpRequest.newBuilder(health).build(), BodyHandlers.discarding());
            }
        });
    }
}
