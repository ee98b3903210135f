/** The URL of the repository, which contains `src/`, where this file is, and `dist/`, where its bundles are. */
export const root = new URL(import.meta.url.replace(/^(.*\/)(?:src|dist)\/.*/, '$1'))
