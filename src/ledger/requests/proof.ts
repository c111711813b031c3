/** Why a request is accepted whose answer nobody has recorded. */
export const reportProof = 'proved by a delivery report or a reply';
