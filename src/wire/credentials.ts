/** What identifies a caller (interface.md, section 5). */
export type Credentials =
  | { readonly kind: 'authToken'; readonly authToken: string }
  | { readonly kind: 'apiKey'; readonly sender: string; readonly apiKey: string }
  | { readonly kind: 'senderToken'; readonly sender: string; readonly token: string };

/** The secret part: redacted from every text that is stored or shown. */
export function secretOf(credentials: Credentials): string {
  switch (credentials.kind) {
    case 'authToken':
      return credentials.authToken;
    case 'apiKey':
      return credentials.apiKey;
    case 'senderToken':
      return credentials.token;
  }
}
