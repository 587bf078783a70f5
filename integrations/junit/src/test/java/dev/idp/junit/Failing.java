package dev.idp.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests that fail, each in a process of its own. Maven does not run a class with this name. */
@ExtendWith(IdpExtension.class)
class Failing {
    @Test
    void asks(Idp idp) throws Exception {
        URI userInfo = URI.create(idp.issuer() + "/api/v2/oauth/userinfo");
        assertEquals(200, HttpClient.newHttpClient().send(HttpRequest.newBuilder(userInfo).build(), BodyHandlers.discarding()).statusCode());
    }

    @Test
    void asksNothing(Idp idp) {
        fail();
    }

    @Test
    void isKilled(Idp idp) throws Exception {
        Files.writeString(Path.of("issuer"), idp.issuer());
        // SIGKILL.
        new ProcessBuilder("kill", "-9", String.valueOf(ProcessHandle.current().pid())).start().waitFor();
    }
}
