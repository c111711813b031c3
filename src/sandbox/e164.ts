/**
 * docs/reference/interfaces.md: "phone numbers come in E.164". A national number stays unchanged, because its country is
 * unknown.
 */
export function toE164(number: string): string {
  const digits = number.replaceAll(/[\s().-]/g, '');
  const [, international] = /^\+?([1-9]\d{6,14})$/.exec(digits) ?? [];
  return international === undefined ? number : `+${international}`;
}
