"""The local launcher: ranks as child processes of one supervisor on this machine."""
