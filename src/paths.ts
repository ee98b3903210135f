/** The repository's top folder, as a URL: this file stands one level below it, and so does the bundle made of it. */
export const root = new URL('../', import.meta.url)
