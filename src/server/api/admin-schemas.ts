import { z } from 'zod';
import { auditActions, auditInterfaces, auditOutcomes, tokenScopes } from '../../domain/access.ts';

export const auditPage = z
  .object({
    entries: z.array(
      z.object({
        entry: z.string(),
        at: z.date(),
        who: z.string(),
        how: z.enum(auditInterfaces),
        token: z.string().nullable(),
        action: z.enum(auditActions),
        run: z.string().nullable(),
        subject: z.string().nullable(),
        details: z.record(z.string(), z.unknown()),
        outcome: z.enum(auditOutcomes),
      }),
    ),
    next: z.string().nullable().describe('The value of `before` for the next page; null on the last page.'),
  })
  .meta({ id: 'AuditPage' });

export const tokenList = z
  .object({
    tokens: z.array(
      z.object({
        name: z.string(),
        owner: z.string(),
        scope: z.enum(tokenScopes),
        accounts: z.array(z.string()).nullable().describe('The accounts of the token; null: all.'),
        madeBy: z.string().nullable().describe('The person who made it; null: not known.'),
        createdAt: z.date(),
        expiresAt: z.date().nullable(),
        revokedAt: z.date().nullable(),
        lastUsedAt: z.date().nullable().describe('To the minute.'),
      }),
    ),
  })
  .meta({ id: 'Tokens' });
