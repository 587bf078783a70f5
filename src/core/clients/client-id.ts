/** RFC 6749 A.1, of a length that fits anywhere. A path of the control API cannot hold `.` or `..`: whoever sends them takes them away. */
export const clientIdForm = /^(?!\.{1,2}$)[\x21-\x7e]{1,200}$/;
