"""A sample of source code: classes with methods, one of another, and a function."""

LIMIT = 100


class Service:
    """What every service does."""

    def close(self) -> None:
        """Lets go of everything."""


class OrderService(Service):
    """Takes orders."""

    def __init__(self) -> None:
        self.orders: list[int] = []

    def place(self, amount: int) -> int:
        """The number of the order."""
        if amount > LIMIT:
            raise ValueError("too much at once")
        self.orders.append(amount)
        return len(self.orders)


def total(service: OrderService) -> int:
    """What was ordered in all."""
    return sum(service.orders)
