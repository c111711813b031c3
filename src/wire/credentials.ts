import type { WireCredentials } from './wire-interface.ts';

/** The secret part: redacted from every text that is stored or shown. */
export function secretOf(credentials: WireCredentials): string {
  switch (credentials.kind) {
    case 'authToken':
      return credentials.authToken;
    case 'apiKey':
      return credentials.apiKey;
    case 'senderToken':
      return credentials.token;
  }
}
