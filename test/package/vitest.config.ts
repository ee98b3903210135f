import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/package/*.package.ts'],
    pool: 'forks',
    testTimeout: 180_000,
    hookTimeout: 600_000,
  },
})
