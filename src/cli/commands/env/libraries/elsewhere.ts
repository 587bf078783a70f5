import { baseOf, discoveryPath } from "../../../../core/base/endpoints.ts";
import { cookieSecret, nameIn, q, type Form } from "./form.ts";

/** .NET, Ruby, PHP and Apache. Each is written from the documentation of its library; docs/libraries.md says which of them a test runs. */

/** A text in single quotes, in which PHP and Ruby expand nothing. */
const single = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

const pathOf = (uri: string): string => new URL(uri).pathname;

/** https://learn.microsoft.com/aspnet/core/security/authentication/configure-oidc-web-authentication */
export const aspnetcore: Form = {
  returnsTo: /\/signin-oidc$/,
  usual: "/signin-oidc",
  origin: "http://localhost:5000",
  mention: "microsoft.aspnetcore.authentication.openidconnect",
  clients: "any",
  tests: ["dotnet", "test"],
  noSignOut:
    "To sign out at the provider too, return Results.SignOut(null, [CookieAuthenticationDefaults.AuthenticationScheme, OpenIdConnectDefaults.AuthenticationScheme]) from a route, and register /signout-callback-oidc of the app as a post-logout redirect URI.",
  lines: ({ issuer, clientId, secret, redirectUri, scopes }) => [
    "// ASP.NET Core: Program.cs, with Microsoft.AspNetCore.Authentication.OpenIdConnect",
    "builder.Services",
    "    .AddAuthentication(options =>",
    "    {",
    "        options.DefaultScheme = CookieAuthenticationDefaults.AuthenticationScheme;",
    "        options.DefaultChallengeScheme = OpenIdConnectDefaults.AuthenticationScheme;",
    "    })",
    "    .AddCookie()",
    "    .AddOpenIdConnect(options =>",
    "    {",
    `        options.Authority = ${q(issuer)};`,
    ...(issuer.startsWith("http:") ? ["        options.RequireHttpsMetadata = false; // in development only"] : []),
    `        options.ClientId = ${q(clientId)};`,
    ...(secret === null ? [] : [`        options.ClientSecret = ${q(secret)};`]),
    "        options.ResponseType = OpenIdConnectResponseType.Code;",
    // The default, form_post, comes without the cookies of a sign-in that began on plain http.
    "        options.ResponseMode = OpenIdConnectResponseMode.Query;",
    `        options.CallbackPath = ${q(pathOf(redirectUri))};`,
    "        options.UsePkce = true;",
    "        options.SaveTokens = true;",
    "        options.MapInboundClaims = false;",
    "        options.Scope.Clear();",
    ...scopes.map((scope) => `        options.Scope.Add(${q(scope)});`),
    '        options.TokenValidationParameters.NameClaimType = "name";',
    "    });",
  ],
};

const omniauthCallback = /\/auth\/([\w-]+)\/callback$/;

/** https://github.com/omniauth/omniauth_openid_connect; its discovery is over https unless SWD is told otherwise. */
export const omniauth: Form = {
  returnsTo: omniauthCallback,
  usual: "/auth/idp/callback",
  mention: "omniauth_openid_connect",
  clients: "any",
  tests: ["bin/rails", "test"],
  noSignOut:
    "To sign out at the provider too, send the browser to the end_session_endpoint of the discovery document with id_token_hint.",
  lines: ({ issuer, clientId, secret, redirectUri, scopes }) => [
    "# OmniAuth: config/initializers/omniauth.rb, with omniauth_openid_connect (Sinatra: use OmniAuth::Builder do … end)",
    ...(issuer.startsWith("http:") ? ["SWD.url_builder = URI::HTTP # in development only"] : []),
    "Rails.application.config.middleware.use OmniAuth::Builder do",
    "  provider :openid_connect, {",
    `    name: :${nameIn(redirectUri, omniauthCallback)},`,
    `    issuer: ${single(issuer)},`,
    "    discovery: true,",
    "    response_type: :code,",
    "    pkce: true,",
    `    scope: [${scopes.map((scope) => `:${/^\w+$/.test(scope) ? scope : q(scope)}`).join(", ")}],`,
    "    client_options: {",
    `      identifier: ${single(clientId)},`,
    ...(secret === null ? [] : [`      secret: ${single(secret)},`]),
    `      redirect_uri: ${single(redirectUri)},`,
    "    },",
    "  }",
    "end",
  ],
  notes: ({ redirectUri }) => [
    `The sign-in begins with a POST. In Rails, add the gem omniauth-rails_csrf_protection, and in a view: button_to "Sign in", ${q(pathOf(redirectUri).replace(/\/callback$/, ""))}, data: { turbo: false }`,
  ],
};

/** https://github.com/OpenIDC/mod_auth_openidc/blob/master/auth_openidc.conf; the redirect URI is a path that has no content. */
export const modAuthOpenidc: Form = {
  returnsTo: /\/redirect_uri$/,
  usual: "/redirect_uri",
  origin: "http://localhost:8080",
  clients: "any",
  noSignOut:
    "To sign out, at the provider too, link to the redirect URI with ?logout= and an address of the app, which the fixtures need as a post-logout redirect URI.",
  lines: ({ issuer, clientId, secret, redirectUri, scopes }) => [
    "# Apache with mod_auth_openidc",
    `OIDCProviderMetadataURL ${q(baseOf(issuer) + discoveryPath)}`,
    `OIDCClientID ${q(clientId)}`,
    ...(secret === null ? ["OIDCProviderTokenEndpointAuth none"] : [`OIDCClientSecret ${q(secret)}`]),
    `OIDCRedirectURI ${q(redirectUri)}`,
    `OIDCCryptoPassphrase ${q(cookieSecret())}`,
    `OIDCScope ${q(scopes.join(" "))}`,
    "OIDCPKCEMethod S256",
    "<Location />",
    "    AuthType openid-connect",
    "    Require valid-user",
    "</Location>",
  ],
};

/** The scopes that the driver for Laravel asks for by itself. */
const ofDriver: readonly string[] = ["openid", "email", "profile"];

/** https://github.com/Kovah/Laravel-Socialite-OpenID-Connect: a driver for any issuer. */
export const laravel: Form = {
  returnsTo: /./,
  usual: "/auth/callback",
  origin: "http://localhost:8000",
  mention: "laravel/socialite",
  clients: "confidential",
  tests: ["php", "artisan", "test"],
  noSignOut:
    "To sign out at the provider too, redirect to the end_session_endpoint of the discovery document with id_token_hint.",
  lines: ({ issuer, clientId, secret, redirectUri, scopes }) => [
    "// Laravel: config/services.php, with laravel/socialite and kovah/laravel-socialite-oidc; then Socialite::driver('oidc')",
    "'oidc' => [",
    `    'base_url' => ${single(issuer)},`,
    `    'client_id' => ${single(clientId)},`,
    `    'client_secret' => ${single(secret ?? "")},`,
    `    'redirect' => ${single(redirectUri)},`,
    ...(scopes.every((scope) => ofDriver.includes(scope))
      ? []
      : [`    'scopes' => ${single(scopes.filter((scope) => !ofDriver.includes(scope)).join(" "))},`]),
    "    'verify_jwt' => true,",
    "],",
    "// app/Providers/AppServiceProvider.php, in boot():",
    "Event::listen(function (\\SocialiteProviders\\Manager\\SocialiteWasCalled $event) {",
    "    $event->extendSocialite('oidc', \\SocialiteProviders\\OIDC\\Provider::class);",
    "});",
  ],
};

/** A text in a configuration of Symfony, which takes what is between two % for a parameter. */
const inSymfony = (text: string): string => q(text.replaceAll("%", "%%"));

/**
 * https://github.com/knpuniversity/oauth2-client-bundle#configuring-a-generic-provider and https://oauth2-client.thephpleague.com/usage/.
 * Its client, not the provider, keeps the code verifier until the callback: pkceMethod of the provider would send the challenge alone.
 */
export const symfony: Form = {
  returnsTo: /./,
  usual: "/connect/idp/check",
  origin: "http://localhost:8000",
  mention: "knpuniversity/oauth2-client-bundle",
  clients: "confidential",
  tests: ["php", "bin/phpunit"],
  noSignOut:
    "To sign out at the provider too, redirect to the end_session_endpoint of the discovery document with client_id and post_logout_redirect_uri.",
  lines: ({ endpoints, clientId, secret, scopes }) => [
    "# Symfony: config/packages/knpu_oauth2_client.yaml, with knpuniversity/oauth2-client-bundle",
    "knpu_oauth2_client:",
    "  clients:",
    "    idp:",
    "      type: generic",
    "      provider_class: League\\OAuth2\\Client\\Provider\\GenericProvider",
    "      client_class: KnpU\\OAuth2ClientBundle\\Client\\OAuth2PKCEClient",
    `      client_id: ${inSymfony(clientId)}`,
    `      client_secret: ${inSymfony(secret ?? "")}`,
    "      redirect_route: connect_idp_check # the route of the redirect URI",
    "      redirect_params: {}",
    "      provider_options:",
    `        urlAuthorize: ${inSymfony(endpoints.authorize)}`,
    `        urlAccessToken: ${inSymfony(endpoints.token)}`,
    `        urlResourceOwnerDetails: ${inSymfony(endpoints.userinfo)}`,
    `        scopes: ${inSymfony(scopes.join(" "))}`,
    "        responseResourceOwnerId: sub",
  ],
};
