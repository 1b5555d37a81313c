"""Services on the network: ChatNoir and args.me."""
