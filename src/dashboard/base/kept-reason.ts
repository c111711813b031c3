import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

/** Characters. */
export const maxReasonLength = 500;

const name = 'volley_reason';
/** Seconds. */
const maxAge = 600;

const body = z.object({ reason: z.string().trim().min(1).max(maxReasonLength) });

/** Of a form whose session has ended: the reason is read, and nothing is done. */
export function keepsReason({ method, headers }: FastifyRequest): boolean {
  return method === 'POST' && /^application\/x-www-form-urlencoded\b/.test(headers['content-type'] ?? '');
}

/** For the form at the same path. In Base64, each character of a reason fits into a cookie. */
export function keepReason(request: FastifyRequest, reply: FastifyReply): void {
  const given = body.safeParse(request.body);
  if (!given.success) return;
  const value = Buffer.from(given.data.reason.toWellFormed()).toString('base64url');
  reply.setCookie(name, value, { path: pathOf(request), httpOnly: true, sameSite: 'strict', maxAge });
}

/** @returns the empty text if there is none */
export function takeReason(reply: FastifyReply): string {
  const kept = reply.request.cookies[name];
  if (kept === undefined) return '';
  reply.clearCookie(name, { path: pathOf(reply.request), httpOnly: true, sameSite: 'strict' });
  return Buffer.from(kept, 'base64url').toString().slice(0, maxReasonLength);
}

/** A semicolon would end the path of a cookie. */
function pathOf({ url }: FastifyRequest): string {
  return url.replace(/[?#].*$/s, '').replaceAll(';', '%3B');
}
