/** A username needs no escaping in a path of the control API, in a command, or in an `id` of a page. */
export const usernameForm = /^[A-Za-z0-9_][A-Za-z0-9._@+-]{0,99}$/;
