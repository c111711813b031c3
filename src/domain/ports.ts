/** Where `volley serve` listens on this machine, unless its options say otherwise. */
export const servePorts = { receiver: 8026, api: 8027 } as const;
