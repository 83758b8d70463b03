/** A text in SQL. Addresses come from the page's address: they may hold anything. */
export const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`
