/** SHA-256 of UTF-8 text as lower-case hex. `shared` has no crypto of its own: the caller hands it in. */
export type Sha256 = (text: string) => string;
