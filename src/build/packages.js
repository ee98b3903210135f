/**
 * The files of packages that the service reads as they are, by their names in imports. The published package has copies
 * of them.
 */
export const copiedFiles = [
  '@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf',
  '@expo-google-fonts/inter/700Bold/Inter_700Bold.ttf',
  '@graphql-yoga/render-graphiql/graphiql',
  '@resvg/resvg-wasm/index_bg.wasm',
]

/**
 * Returns the folders of the packages of which the bundles contain something, or the published package a copy.
 * @param {Readonly<Record<string, readonly string[]>>} contents the sources of each bundle, `dist/contents.json`.
 * @returns {string[]} paths such as `node_modules/graphql`, sorted.
 */
export function shippedPackages(contents) {
  const bundled = Object.values(contents).flat().flatMap(folderOf)
  const copied = copiedFiles.flatMap((name) => folderOf(`node_modules/${name}`))
  return [...new Set([...bundled, ...copied])].sort()
}

/**
 * Returns the dependencies that are installed beside the published package: those of which it contains nothing.
 * @param {Readonly<Record<string, string>>} dependencies those of `package.json`.
 * @param {readonly string[]} shipped the folders of `shippedPackages`.
 * @returns {Record<string, string>}
 */
export function separateDependencies(dependencies, shipped) {
  return Object.fromEntries(Object.entries(dependencies).filter(([name]) => !shipped.includes(`node_modules/${name}`)))
}

/** @param {string} path */
function folderOf(path) {
  const found = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)
  return found === null ? [] : [found[0]]
}
