import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { usedStylesPlugin } from '../used-styles.ts'

export default defineConfig({
  base: '/console/',
  plugins: [react(), usedStylesPlugin()],
  build: { target: 'es2023', assetsInlineLimit: 0, reportCompressedSize: false }
})
