/** A place of somebody else. The name never resolves (RFC 6761 6.4). */
export const elsewhere = "https://elsewhere.invalid";
