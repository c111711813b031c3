import { InputError } from '../domain/problems.ts';

/**
 * The address that the receiver is reached at from outside, without a trailing slash.
 *
 * @throws InputError for what is none
 */
export function readPublicUrl(written: string | undefined): string | undefined {
  if (!written) return undefined;
  const url = URL.parse(written);
  const isPlain = url?.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (url === null || !/^https?:$/.test(url.protocol) || !isPlain) {
    // Not shown: it may hold a password.
    const what = 'expected an http:// or https:// address without user, password, query and fragment';
    throw new InputError([{ where: 'VOLLEY_PUBLIC_URL', what }]);
  }
  return written.replace(/\/+$/, '');
}
