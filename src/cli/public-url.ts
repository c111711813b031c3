import { InputError } from '../domain/problems.ts';

/** @throws InputError for anything but a plain http or https URL */
export function readPublicUrl(written: string | undefined, where = 'VOLLEY_PUBLIC_URL'): string | undefined {
  if (!written) return undefined;
  const url = URL.parse(written);
  const isPlain = url?.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (url === null || !/^https?:$/.test(url.protocol) || !isPlain) {
    // The value can contain a password.
    const what = 'expected an http:// or https:// address without user, password, query and fragment';
    throw new InputError([{ where, what }]);
  }
  return written.replace(/(?<!\/)\/+$/, '');
}
