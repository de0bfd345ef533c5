zoo = {}
