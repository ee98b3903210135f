import { describeWithOwnPackages } from '../../support/own-packages.ts'

describeWithOwnPackages(import.meta.url, 'the lint of schema.graphql', () => import('./rules.ts'))
