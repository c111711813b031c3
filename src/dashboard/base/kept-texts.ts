import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

/** Characters. */
export const maxReasonLength = 500;

const body = z.object({ reason: z.string().trim().min(1).max(maxReasonLength) });

const notice = 'volley_notice';
const reason = 'volley_reason';
const cookie = { httpOnly: true, sameSite: 'strict' } as const;

const year = 31_536_000;

export function keepChoice(
  reply: FastifyReply,
  { name, value }: { readonly name: string; readonly value: string },
): void {
  reply.setCookie(name, value, { ...cookie, path: '/', maxAge: year });
}

/** Keeps what was done, which the next page says. */
export function keepNotice(reply: FastifyReply, text: string): void {
  const value = text.slice(0, maxReasonLength).toWellFormed();
  reply.setCookie(notice, value, { ...cookie, path: '/', maxAge: 60 });
}

/** The kept notice, once; undefined if there is none. */
export function takeNotice(reply: FastifyReply): string | undefined {
  const kept = reply.request.cookies[notice];
  if (kept === undefined) return undefined;
  reply.clearCookie(notice, { ...cookie, path: '/' });
  return kept.slice(0, maxReasonLength);
}

/** Whether the call is a form whose reason is kept, because its session has ended. Nothing else is done with it. */
export function keepsReason({ method, headers }: FastifyRequest): boolean {
  return method === 'POST' && /^application\/x-www-form-urlencoded\b/.test(headers['content-type'] ?? '');
}

/** Keeps the reason for the form at the same path. In Base64, each character of a reason fits into a cookie. */
export function keepReason(request: FastifyRequest, reply: FastifyReply): void {
  const given = body.safeParse(request.body);
  if (!given.success) return;
  const value = Buffer.from(given.data.reason.toWellFormed()).toString('base64url');
  reply.setCookie(reason, value, { ...cookie, path: pathOf(request), maxAge: 600 });
}

/** The kept reason, once; the empty text if there is none. */
export function takeReason(reply: FastifyReply): string {
  const kept = reply.request.cookies[reason];
  if (kept === undefined) return '';
  reply.clearCookie(reason, { ...cookie, path: pathOf(reply.request) });
  return Buffer.from(kept, 'base64url').toString().slice(0, maxReasonLength);
}

/** A semicolon would end the path of a cookie. */
function pathOf({ url }: FastifyRequest): string {
  return url.replace(/[?#].*$/s, '').replaceAll(';', '%3B');
}
