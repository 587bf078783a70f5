import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.idp.junit.Idp;
import dev.idp.junit.IdpExtension;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(IdpExtension.class)
class SignInTest {
    private static int userInfoStatus(Idp idp, String accessToken) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(idp.issuer() + "/api/v2/oauth/userinfo"))
                .header("Authorization", "Bearer " + accessToken)
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode();
    }

    @Test
    void aliceSignsInAndTakesTheAccessAway(Idp idp) throws Exception {
        String clientId = idp.client().clientId();

        URI callback = idp.signIn(clientId, "alice", Map.of("state", "some-state"));
        assertTrue(callback.getQuery().contains("state=some-state"));

        Idp.Tokens tokens = idp.issueTokens(clientId, "alice", Map.of("scope", "openid email"));
        assertEquals(200, userInfoStatus(idp, tokens.accessToken()));

        idp.revoke(clientId, "alice");
        assertEquals(403, userInfoStatus(idp, tokens.accessToken()));
        idp.expect("userinfo", Map.of("status", 403, "times", 1));
    }
}
