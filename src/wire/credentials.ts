import type { WireCredentials } from './wire-interface.ts';

/** The part of credentials that nobody else may know: it is compared, and kept out of everything that is written. */
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
