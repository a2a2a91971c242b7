import { useQuery } from '@tanstack/react-query'
import type { Node } from '../../../wire.ts'
import { manage } from './client.ts'

export const useNodes = () =>
  useQuery({
    queryKey: ['nodes'],
    queryFn: () => manage<{ items: Node[] }>('GET', '/nodes'),
    meta: { kinds: ['nodes'] },
    retry: false
  })
