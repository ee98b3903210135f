import { type AssetBundle, bundleAssets as bundleAnew } from '../../src/http/assets/asset-bundle.ts'

const bundled = new Map<string, Promise<AssetBundle>>()

/**
 * Replaces the function of `src/http/assets/asset-bundle.ts` in `loadAssets`. Bundles the same sources once per worker, not for
 * each service that starts in it.
 */
export function bundleAssets(pageSources: readonly URL[]): Promise<AssetBundle> {
  const key = pageSources.join('\n')
  const known = bundled.get(key) ?? bundleAnew(pageSources)
  bundled.set(key, known)
  return known
}
