import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import type { Claims, CompanySignIn } from '../../engine/access/company-sign-in.ts';
import { companyPath } from '../paths.ts';

/** What the browser keeps while the person is at the provider. */
export type BegunSignIn = { readonly verifier: string; readonly state: string; readonly nonce: string };

export type Company = CompanySignIn & { readonly provider: ReturnType<typeof createCompanyProvider> };

/** Seconds. */
const answerTimeout = 5;

/**
 * The identity provider of a company: authorization code with PKCE. `openid-client` checks state, nonce, signature, issuer,
 * audience and times. Each function rejects when the provider does not answer, or not as it should.
 */
export function createCompanyProvider({ issuer, clientId, clientSecret, publicUrl }: CompanySignIn) {
  const returnUrl = `${publicUrl}${companyPath}/return`;
  // The settings allow http: for this machine only.
  const checks = issuer.protocol === 'http:' ? [allowInsecureRequests] : [];
  let discovered: Promise<Configuration> | undefined;
  const discover = async (): Promise<Configuration> => {
    const options = { timeout: answerTimeout, execute: [enableNonRepudiationChecks, ...checks] };
    discovered ??= discovery(issuer, clientId, clientSecret, undefined, options);
    try {
      return await discovered;
    } catch (error) {
      discovered = undefined;
      throw error;
    }
  };
  return {
    /** The address at which a browser begins. */
    begin: async (): Promise<{ readonly address: string; readonly begun: BegunSignIn }> => {
      const config = await discover();
      const begun = { verifier: randomPKCECodeVerifier(), state: randomState(), nonce: randomNonce() };
      const { href: address } = buildAuthorizationUrl(config, {
        redirect_uri: returnUrl,
        scope: 'openid email profile',
        code_challenge: await calculatePKCECodeChallenge(begun.verifier),
        code_challenge_method: 'S256',
        state: begun.state,
        nonce: begun.nonce,
      });
      return { address, begun };
    },
    /** What the provider says of the person. @param query of the address with which the browser came back */
    finish: async (query: string, { verifier, state, nonce }: BegunSignIn): Promise<Claims> => {
      const config = await discover();
      const answer = await authorizationCodeGrant(config, new URL(`${returnUrl}${query}`), {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims: Claims & { readonly sub: string } = answer.claims() ?? { sub: '' };
      // Many providers say e-mail addresses and groups here only.
      if (config.serverMetadata().userinfo_endpoint === undefined) return claims;
      return { ...(await fetchUserInfo(config, answer.access_token, claims.sub)), ...claims };
    },
    /** The address that ends the provider's own session; undefined if it has none. */
    findSignOut: async (): Promise<string | undefined> => {
      const config = await discover();
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
      return buildEndSessionUrl(config, { post_logout_redirect_uri: `${publicUrl}/sign-in` }).href;
    },
  };
}
