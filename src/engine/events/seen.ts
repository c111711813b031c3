import { mayBeRead } from '../../ledger/events/recent.ts';

/** What a follower has shown of rows that it may read again. */
export type Seen = {
  /** Whether the row's content was not shown yet. Remembers it. */
  readonly isNew: (key: string, content: string, transaction: number) => boolean;
  /** Forgets rows of older transactions, which are not read again. */
  readonly forgetBefore: (oldest: string) => void;
};

export function createSeen(): Seen {
  const rows = new Map<string, { readonly content: string; readonly transaction: number }>();
  return {
    isNew: (key, content, transaction) => {
      const isNew = rows.get(key)?.content !== content;
      rows.set(key, { content, transaction });
      return isNew;
    },
    forgetBefore: (oldest) => {
      for (const [key, { transaction }] of rows) if (!mayBeRead(transaction, oldest)) rows.delete(key);
    },
  };
}
