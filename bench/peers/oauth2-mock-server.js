// oauth2-mock-server as it comes: it knows no users and no sessions, so a sign-in is one redirect.
import { OAuth2Server } from "oauth2-mock-server";

const server = new OAuth2Server();
await server.issuer.keys.generate("RS256");
await server.start(Number(process.argv[2]), "127.0.0.1");
