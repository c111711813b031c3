import { asText, member } from './json.ts';
import { parseMembers } from './xml.ts';

export type ReportCredentials = { readonly sender?: string; readonly apiKey?: string };

/**
 * `Sender` and `APIKey` of a delivery report in any of its forms (observed.md): JSON, XML, form fields, or the query
 * string, which is the body of a GET.
 *
 * @returns undefined when nothing of the kind can be read
 */
export function readCredentials({
  method,
  body,
}: {
  readonly method: string;
  readonly body: Uint8Array;
}): ReportCredentials | undefined {
  const members = method === 'GET' ? undefined : parseMembers(body);
  const find = members
    ? (name: string): string | undefined => asText(member(members, name))
    : formField(new URLSearchParams(new TextDecoder().decode(body)));
  const [sender, apiKey] = [find('Sender'), find('APIKey')];
  if (sender === undefined && apiKey === undefined) return undefined;
  return { ...(sender !== undefined && { sender }), ...(apiKey !== undefined && { apiKey }) };
}

/** A field that stands there twice has no value: readers differ in which one counts. */
function formField(fields: URLSearchParams): (name: string) => string | undefined {
  return (name) => {
    const values = fields.getAll(name);
    return values.length === 1 ? values[0] : undefined;
  };
}
