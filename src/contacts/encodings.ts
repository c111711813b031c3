export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'mac-roman'] as const;
export type Encoding = (typeof encodings)[number];

export const byteOrderMarks: readonly { readonly mark: Buffer; readonly encoding: Encoding }[] = [
  { mark: Buffer.from([0xef, 0xbb, 0xbf]), encoding: 'utf-8' },
  { mark: Buffer.from([0xff, 0xfe]), encoding: 'utf-16le' },
  { mark: Buffer.from([0xfe, 0xff]), encoding: 'utf-16be' },
];
