/**
 * A phone number as reports have it (observed.md: "phone numbers come in E.164"): in international form with its plus
 * sign and nothing between the digits. A national number stays as it came, for its country is not known.
 */
export function toE164(number: string): string {
  const digits = number.replaceAll(/[\s().-]/g, '');
  const [, international] = /^\+?([1-9]\d{6,14})$/.exec(digits) ?? [];
  return international === undefined ? number : `+${international}`;
}
