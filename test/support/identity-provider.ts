import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
import { freePort } from './free-port.ts';

export const clientId = 'volley';
export const clientSecret = 'the-secret-of-volley-at-its-provider';

/** A certified provider, over HTTP on this machine. Any login and password sign a person in. */
export type IdentityProvider = AsyncDisposable & { readonly issuer: string };

/**
 * @param dashboard address of the dashboard that is its client
 * @param groups of people, by login
 */
export async function startIdentityProvider(
  dashboard: string,
  groups: Readonly<Record<string, readonly string[]>>,
): Promise<IdentityProvider> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        token_endpoint_auth_method: 'client_secret_post',
        redirect_uris: [`${dashboard}/sign-in/company/return`],
        post_logout_redirect_uris: [`${dashboard}/sign-in`],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['groups'] },
    findAccount: async (_, login) => ({
      accountId: login,
      claims: async () => ({
        sub: login,
        email: `${login}@Company.example`,
        email_verified: login !== 'unverified',
        groups: groups[login] ?? [],
      }),
    }),
    cookies: { keys: ['of this test'] },
    pkce: { required: () => true },
  });
  const server = createServer(provider.callback()).listen(port, '127.0.0.1');
  return {
    issuer,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
