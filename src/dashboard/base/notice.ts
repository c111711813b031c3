import type { FastifyReply } from 'fastify';

const name = 'volley_notice';
const maxLength = 500;

/** Says on the next page what was done. */
export function keepNotice(reply: FastifyReply, notice: string): void {
  const value = notice.slice(0, maxLength).toWellFormed();
  reply.setCookie(name, value, { path: '/', httpOnly: true, sameSite: 'strict', maxAge: 60 });
}

export function takeNotice(reply: FastifyReply): string | undefined {
  const notice = reply.request.cookies[name];
  if (notice === undefined) return undefined;
  reply.clearCookie(name, { path: '/', httpOnly: true, sameSite: 'strict' });
  return notice.slice(0, maxLength);
}
