import './changes.ts'
