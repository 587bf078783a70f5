/** What stands in a path of the control API, in a command and in an `id` of a page, so that it needs no escaping there. */
export const usernameForm = /^[A-Za-z0-9_][A-Za-z0-9._@+-]{0,99}$/;
